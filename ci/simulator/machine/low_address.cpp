#include "low_address.h"

#include <sys/mman.h>

#include <cstring>

#include "machine.h"

namespace dav {
namespace {

constexpr greg_t TRAP_FLAG = 0x100;
constexpr int LONGEST = 15;              // bytes of an x86 instruction
constexpr uint8_t SHORT_ADDRESS = 0x67;  // prefix: the address has 32 bits and no sign
constexpr int NONE = -1;

// Where the rewritten instruction runs, and what to go back to.
uint8_t* room = nullptr;
uint64_t behind_address = 0;  // original address of the bytes behind the memory operand
uint64_t behind_room = 0;     // their place in the room
int moved[2] = {NONE, NONE};  // registers of a block instruction that point into UB
bool stepping = false;

bool is_prefix(uint8_t byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 ||
           byte == 0x3e || byte == 0x26 || byte == 0xf0 || byte == SHORT_ADDRESS;
}

// The ModRM byte's position in the instruction at `code`; copies what stands before it to `copy`,
// without the extension of the index register.
int before_operand(const uint8_t* code, uint8_t* copy) {
    int at = 0;
    while (is_prefix(code[at])) ++at;
    std::memcpy(copy, code, LONGEST);
    if (code[at] == 0xc5) return at + 3;
    if (code[at] == 0xc4) {
        copy[at + 1] |= 0x40;  // inverted in this prefix
        return at + 4;
    }
    if ((code[at] & 0xf0) == 0x40) copy[at++] &= ~0x02;
    if (code[at] != 0x0f) return at + 1;
    return code[at + 1] == 0x38 || code[at + 1] == 0x3a ? at + 3 : at + 2;
}

// The opcode of a block instruction (movs 0xa4, 0xa5; stos 0xaa, 0xab), 0 for any other.
uint8_t block_opcode(const uint8_t* code) {
    while (is_prefix(*code) || (*code & 0xf0) == 0x40) ++code;
    return (*code & 0xfe) == 0xa4 || (*code & 0xfe) == 0xaa ? *code : 0;
}

// Bytes of ModRM, SIB and displacement.
int operand_bytes(const uint8_t* modrm) {
    const int mode = *modrm >> 6;
    const int base = *modrm & 7;
    int bytes = 1;
    int inner = base;
    if (base == 4) {
        inner = modrm[1] & 7;
        ++bytes;
    }
    if (mode == 1) return bytes + 1;
    if (mode == 2 || inner == 5) return bytes + 4;
    return bytes;
}

void on_step(int, siginfo_t*, void* raw) {
    greg_t* registers = static_cast<ucontext_t*>(raw)->uc_mcontext.gregs;
    if (!stepping)
        fail(Outcome::LAUNCH_ERROR, reinterpret_cast<void*>(registers[REG_RIP]), nullptr,
             "The kernel executed a breakpoint instruction.");
    stepping = false;
    registers[REG_EFL] &= ~TRAP_FLAG;
    const auto base = reinterpret_cast<greg_t>(current->ub);
    bool block = false;
    for (int& number : moved) {
        if (number == NONE) continue;
        registers[number] -= base;
        number = NONE;
        block = true;
    }
    if (block) return;
    registers[REG_RIP] += static_cast<greg_t>(behind_address - behind_room);
}

void move_register(greg_t* registers, int number) {
    if (static_cast<uint64_t>(registers[number]) >= UB_BYTES) return;
    registers[number] += reinterpret_cast<greg_t>(current->ub);
    moved[moved[0] == NONE ? 0 : 1] = number;
}

}  // namespace

bool is_low(const void* address) {
    return launch().true_offsets && reinterpret_cast<uint64_t>(address) < UB_BYTES;
}

void* true_address(const void* pointer) {
    if (current == nullptr || !is_low(pointer)) return const_cast<void*>(pointer);
    return current->ub + reinterpret_cast<uint64_t>(pointer);
}

void install_low_addresses() {
    if (!launch().true_offsets) return;
    void* memory =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "This computer allows no memory that is writable and executable, which kernels "
             "built against AscendC's own headers need for their scalar loads and stores.");
    room = static_cast<uint8_t*>(memory);
    struct sigaction action{};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
}

bool redirect(const void* address, ucontext_t* context) {
    if (current == nullptr || room == nullptr || stepping || !is_low(address)) return false;
    greg_t* registers = context->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    stepping = true;
    registers[REG_EFL] |= TRAP_FLAG;
    if (const uint8_t opcode = block_opcode(code)) {
        move_register(registers, REG_RDI);
        if (opcode < 0xaa) move_register(registers, REG_RSI);
        return true;
    }
    room[0] = SHORT_ADDRESS;
    uint8_t* copy = room + 1;
    const int before = before_operand(code, copy);
    const uint8_t* modrm = code + before;
    const int length = operand_bytes(modrm);
    // The operand becomes a plain 32-bit address: every UB lies below 4 GiB.
    const auto target = static_cast<uint32_t>(reinterpret_cast<uint64_t>(true_address(address)));
    copy += before;
    *copy++ = (*modrm & 0x38) | 0x04;
    *copy++ = 0x25;
    std::memcpy(copy, &target, sizeof(target));
    copy += sizeof(target);
    std::memcpy(copy, modrm + length, LONGEST);
    behind_address = reinterpret_cast<uint64_t>(modrm + length);
    behind_room = reinterpret_cast<uint64_t>(copy);
    registers[REG_RIP] = reinterpret_cast<greg_t>(room);
    return true;
}

}  // namespace dav
