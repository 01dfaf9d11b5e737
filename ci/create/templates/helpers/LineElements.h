// What `GiveTurned` gathers by: for each element of lines of `rows` elements the bytes before it in
// the tile, where they lie `pitch` elements apart. Eight lines are computed, the rest follow them.
template <typename T>
__aicore__ inline void LineElements(const LocalTensor<int32_t>& index,
                                    const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                                    uint32_t pitch) {
    const uint32_t count = rows * BLOCK;
    const LocalTensor<int32_t> line = work.ReinterpretCast<int32_t>();
    const int32_t place = pitch * sizeof(T);
    const event_t gathered = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(gathered);  // by the index before; the next one begins with a scalar
    WaitFlag<HardEvent::V_S>(gathered);
    CreateVecIndex(index, static_cast<int32_t>(0), count);
    PipeBarrier<PIPE_V>();
    Cast(work, index, RoundMode::CAST_NONE, count);
    PipeBarrier<PIPE_V>();
    Adds(work, work, 0.5f, count);
    PipeBarrier<PIPE_V>();
    Muls(work, work, 1.0f / rows, count);
    PipeBarrier<PIPE_V>();
    Cast(line, work, RoundMode::CAST_FLOOR, count);
    Muls(index, index, place, count);
    PipeBarrier<PIPE_V>();
    Muls(line, line, static_cast<int32_t>(sizeof(T)) - static_cast<int32_t>(rows) * place, count);
    PipeBarrier<PIPE_V>();
    Add(index, index, line, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t done = count; done < rows * cols; done *= 2) {
        Adds(index[done], index, static_cast<int32_t>(done / rows * sizeof(T)),
             Least(done, rows * cols - done));
        PipeBarrier<PIPE_V>();
    }
}
