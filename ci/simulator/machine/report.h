// What a launch reports: outcome, message, sites, warnings, and the profile when it ended well.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conflicts.h"
#include "profile.h"

namespace dav {

// Where the report goes; set before anything can fail.
void set_report_path(const std::string& path);
// The kernel takes a tensor of the launch as one of this dtype; what it takes it as first counts.
void take_as(const std::string& tensor, const char* dtype);
// CPU seconds of this program by phase, for those who measure the machine itself.
struct HostSeconds {
    double load = 0;     // kernel, inputs
    double execute = 0;  // the blocks, and the conflicts between them
    double timing = 0;   // the timing pass
    double members = 0;  // the same with other constants
    double store = 0;    // outputs
};
// Writes the report of a launch that ended well, the cycles that it takes with the constants of
// each member, and which outputs it left unwritten.
void write_report(const Profile& profile,
                  const std::vector<std::pair<std::string, double>>& members,
                  const std::vector<Unwritten>& unwritten, const HostSeconds& host);
// Ends the launch as a race if one was noted that is none whatever the kernel's source says.
void end_if_racing();
// Writes the report of a launch that was only asked for addresses.
void write_cover();
std::string json_string(const std::string& text);

}  // namespace dav
