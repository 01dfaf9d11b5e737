// The scalar unit goes on when the vector unit has done all before.
__aicore__ inline void AwaitVector() {
    const event_t done = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(done);
    WaitFlag<HardEvent::V_S>(done);
}

// The place that `places` has at `i`; below 0 it counts from the end. One outside is the nearest
// that there is.
__aicore__ inline uint64_t PlaceAt(const LocalTensor<float>& places, uint32_t i, uint64_t length) {
    int64_t place = static_cast<int64_t>(places.GetValue(i));
    const int64_t end = static_cast<int64_t>(length);
    place = place < 0 ? place + end : place;
    return place < 0 ? 0 : place < end ? place : end - 1;
}
