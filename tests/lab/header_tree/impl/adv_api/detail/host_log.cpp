namespace AscendC {
int logInstance = 0;
}  // namespace AscendC
