// What a launch reports: outcome, message, sites, warnings, and the profile when it ended well.
#pragma once

#include <string>

#include "profile.h"

namespace dav {

// Where the report goes; set before anything can fail.
void set_report_path(const std::string& path);
// Writes the report of a launch that ended well.
void write_report(const Profile& profile);
std::string json_string(const std::string& text);

}  // namespace dav
