// The Matmul API's block: what is asked of it, as products of the element types at hand.
#include "matmul.h"

#include "matmul_product.h"

namespace dav {
namespace {

bool door_told = false;  // one sentence a launch

// Calls `then` with a product of the element types that it names.
template <typename T, typename Then>
void with_float_sums(const DavMatmul& product, const void* site, Then then) {
    switch (product.result) {
        case DavElement::FLOAT: return then(Product<T, float, float>(product, site));
        case DavElement::HALF: return then(Product<T, float, half>(product, site));
        case DavElement::BFLOAT16: return then(Product<T, float, bfloat16_t>(product, site));
        case DavElement::INT8: return then(Product<T, float, int8_t>(product, site));
        case DavElement::UINT8: return then(Product<T, float, uint8_t>(product, site));
        default: break;
    }
    fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul gives no such results of float sums.");
}

template <typename Then> void with_types(const DavMatmul& product, const void* site, Then then) {
    switch (product.type) {
        case DavElement::HALF: return with_float_sums<half>(product, site, then);
        case DavElement::BFLOAT16: return with_float_sums<bfloat16_t>(product, site, then);
        case DavElement::FLOAT: return with_float_sums<float>(product, site, then);
        case DavElement::INT8: break;
        default: fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul takes no such elements.");
    }
    switch (product.result) {
        case DavElement::INT32: return then(Product<int8_t, int32_t, int32_t>(product, site));
        case DavElement::HALF: return then(Product<int8_t, int32_t, half>(product, site));
        case DavElement::INT8: return then(Product<int8_t, int32_t, int8_t>(product, site));
        case DavElement::UINT8: return then(Product<int8_t, int32_t, uint8_t>(product, site));
        default: fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul gives no such results.");
    }
}

// The products of a waiting block, summed in L0C.
void compute(WaitingBlock& block, uint32_t place, const void* site) {
    for (size_t i = 0; i < block.parts.size(); ++i)
        with_types(block.parts[i], site, [&](auto&& product) {
            product.compute(place, i > 0);
            block.bytes = product.place_bytes();
        });
    block.computed = true;
    block.from = place;
}

// Iterate: the sums of one block stay in L0C until GetTensorC fetches them. With no room there, the
// block is computed when it is fetched.
void begin_block(const DavMatmul& asked, const void* site) {
    MatmulState& state = matmul_state();
    WaitingBlock* block = asked.partial ? state.block_of(asked.owner) : nullptr;
    if (block != nullptr) {
        block->parts.push_back(asked);
        if (block->computed)
            with_types(asked, site, [&](auto&& product) { product.compute(block->from, true); });
        return;
    }
    state.forget(asked.owner);
    state.waiting.push_back({asked.owner, {asked}});
    uint32_t place = 0;
    bool found = false;
    with_types(asked, site, [&](auto&& product) { found = product.find_place(place); });
    if (found) compute(state.waiting.back(), place, site);
}

// GetTensorC: the block that waits; one that does not is computed.
void fetch_block(const DavMatmul& asked, const void* site) {
    MatmulState& state = matmul_state();
    WaitingBlock* block = state.block_of(asked.owner);
    if (block == nullptr) {
        with_types(asked, site, [](auto&& product) { product.run(); });
        return;
    }
    if (!block->computed) {
        uint32_t place = 0;
        with_types(block->parts.front(), site, [&](auto&& product) {
            if (!product.find_place(place)) state.make_room(place = 0, product.place_bytes());
        });
        compute(*block, place, site);
    }
    const uint32_t from = block->from;
    with_types(asked, site, [&](auto&& product) { product.store_block(from); });
    state.forget(asked.owner);
}

}  // namespace

void multiply(const DavMatmul& product, const void* site) {
    if (product.m <= 0 || product.n <= 0 || product.k <= 0 || product.count_m <= 0 ||
        product.count_n <= 0)
        return;
    if (product.owner != nullptr && !door_told) {
        door_told = true;
        warn(site, "door", "Matmul",
             "Our headers' Matmul is one block of the machine; --asc-headers runs and times the "
             "library's own code and tiling.");
    }
    const OrderedByData scope(site);
    switch (product.step) {
        case DavStep::PRODUCT: return begin_block(product, site);
        case DavStep::STORE: return fetch_block(product, site);
        case DavStep::WHOLE: break;
    }
    with_types(product, site, [](auto&& whole) { whole.run(); });
}
}  // namespace dav
