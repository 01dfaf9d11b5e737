"""The simulator of the dav-c220 AI core (C++17) and its toolchain."""
