// Sums over the timing pass: the fields of PipeTime (ci/model/trial.py).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dav {

struct Profile {
    double total_cycles = 0;  // launch overhead included
    double core_cycles = 0;   // from the first core's start to the last core's end
    int block_dim = 0;
    std::map<std::string, double> busy_cycles;  // mean a core
    std::map<std::string, double> wait_cycles;  // mean a core, "VECTOR<-MTE2"
    std::map<std::string, uint64_t> instructions;
    uint64_t gm_read_bytes = 0;
    uint64_t gm_write_bytes = 0;
    uint64_t tensor_write_bytes = 0;
    uint64_t hbm_bytes = 0;
    uint64_t first_read_bytes = 0;
    uint64_t first_written_bytes = 0;
    double bank_conflict_cycles = 0;
    uint64_t inserted_waits = 0;
    uint64_t inserted_barriers = 0;
    uint64_t workspace_unused_bytes = 0;
    uint32_t ub_peak_bytes = 0;
    double imbalance = 1;
    std::vector<std::pair<uint32_t, double>> hot_lines;  // site offset, busy cycles of core 0
    std::vector<uint32_t> ran;                           // sites of the first and the last core
};

}  // namespace dav
