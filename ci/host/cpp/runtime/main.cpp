// host_program describe ANSWER | host_program tile REQUEST ANSWER
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>

#include <unistd.h>

#include "runtime/runtime.h"

int main(int argc, char** argv) {
    try {
        std::string answer;
        if (argc == 3 && std::strcmp(argv[1], "describe") == 0) {
            answer = host::describe();
        } else if (argc == 4 && std::strcmp(argv[1], "tile") == 0) {
            answer = host::tile(host::read_request(argv[2]));
        } else {
            std::fputs("usage: host_program describe ANSWER | tile REQUEST ANSWER\n", stderr);
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
