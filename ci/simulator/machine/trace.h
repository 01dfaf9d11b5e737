// What functional execution leaves behind for the timing pass: one record an instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "work.h"

namespace dav {

enum class Kind : uint8_t {
    NONE,
    SCALAR,       // scalar memory accesses since the record before
    COMPUTE,      // occupies its pipe for as long as its work costs
    TRANSFER,     // GM copy: its time depends on what other cores move meanwhile
    SET_FLAG,     // on pipe `pipe` for pipe `peer`
    WAIT_FLAG,    // on pipe `pipe` for a flag from `peer`
    BARRIER,      // pipe waits for its own earlier instructions
    BARRIER_ALL,  // the scalar unit waits for every pipe
    DEPEND,       // wait that automatic sync inserted: on record `argument` of pipe `peer`
    SYNC_ALL,     // rendezvous number `argument` of cores
    CORE_SET,     // cross-core signal number `argument` is sent when `pipe` has come so far
    CORE_WAIT,    // waits for cross-core signal number `argument`
    END,
};

// Names behind Record::name.
std::vector<const char*>& mnemonic_names();
// The number of a mnemonic; equal spellings get equal numbers.
uint16_t mnemonic_number(const char* mnemonic);

struct Record {
    uint32_t scalar = 0;    // scalar work since the record before: number in works().scalar
    uint32_t work = 0;      // of its pipe: number in works().pipes
    uint32_t site = 0;      // code address as an offset in the kernel's image
    uint32_t argument = 0;  // see Kind; for TRANSFER the index in Core::transfers
    uint16_t name = 0;      // mnemonic, index in mnemonic_names()
    Kind kind = Kind::NONE;
    uint8_t pipe = 0;
    uint8_t peer = 0;
    uint8_t event = 0;
    bool drain = false;  // a rewrite of a result in flight: starts when earlier results are there;
                         // of a DEPEND: the pipe counts as busy while it waits

    static Record of(Kind kind, int pipe, const char* mnemonic) {
        Record record;
        record.kind = kind;
        record.pipe = static_cast<uint8_t>(pipe);
        record.name = mnemonic_number(mnemonic);
        return record;
    }
    static Record compute(int pipe, const char* mnemonic, const Work& work) {
        Record record = of(Kind::COMPUTE, pipe, mnemonic);
        record.work = works().pipes.number(work);
        return record;
    }
    static Record between(Kind kind, int pipe, int peer, const char* mnemonic) {
        Record record = of(kind, pipe, mnemonic);
        record.peer = static_cast<uint8_t>(peer);
        return record;
    }
    static Record numbered(Kind kind, int pipe, uint32_t argument, const char* mnemonic) {
        Record record = of(kind, pipe, mnemonic);
        record.argument = argument;
        return record;
    }
};

// Which way between GM and a core's memories.
enum class Port : uint8_t { TO_UB, FROM_UB, TO_L1, FROM_L0C };
constexpr int PORTS = 4;

// A copy's GM side: `count` bursts of `length` bytes, `stride` bytes apart.
struct Transfer {
    uint64_t start;
    uint64_t stride;
    uint32_t length;
    uint32_t count;
    bool write;
    bool bypass = false;  // past L2, straight from or to the memory behind it
    Port port = Port::TO_UB;
    uint64_t bytes() const { return uint64_t(length) * count; }
    uint64_t end() const { return start + uint64_t(count - 1) * stride + length; }
};

}  // namespace dav
