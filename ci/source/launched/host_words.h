// Macros of the host side that a program may have around its kernel: structures as plain data.
#ifndef BEGIN_TILING_DATA_DEF
#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name) type name;
#define TILING_DATA_FIELD_DEF_ARR(type, count, name) type name[count];
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF }
#define REGISTER_TILING_DATA_CLASS(...)
#endif
