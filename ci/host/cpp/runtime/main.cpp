// host_program describe ANSWER | tile REQUEST ANSWER | survey REQUESTS ANSWERS …
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>

#include <unistd.h>

#include "runtime/runtime.h"

int main(int argc, char** argv) {
    try {
        if (argc == 8 && std::strcmp(argv[1], "survey") == 0) {
            _exit(host::survey(argv));
        }
        host::tell_crashes();
        std::string answer;
        if (argc == 3 && std::strcmp(argv[1], "describe") == 0) {
            answer = host::describe();
        } else if (argc == 4 && std::strcmp(argv[1], "tile") == 0) {
            answer = host::tile(host::read_requests(argv[2], 1).at(0));
        } else {
            std::fputs(
                "usage: host_program describe ANSWER | tile REQUEST ANSWER |"
                " survey REQUESTS ANSWERS ROUNDS OFTEN STEP ALIKE\n",
                stderr);
            return 2;
        }
        std::ofstream file(argv[argc - 1], std::ios::binary);
        file << answer;
        file.close();
        std::fflush(nullptr);
        // Without the destructors of the operator's globals, which may be in any state.
        _exit(file.fail() ? 3 : 0);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 2;
    }
}
