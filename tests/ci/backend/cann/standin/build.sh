#!/bin/bash
# Stands in for an operator repository's build.sh; LAYOUT is put here by toolkit.py.
# cann-ops `build.sh --help`: "-n|--op-name Specifies the compiled operator.", "-c|--compute-unit
# Specifies the chip type." ops-math docs/zh/install/compile.md: "bash build.sh --pkg
# --soc=${soc_version} [--vendor_name=${vendor_name}] [--ops=${op_list}] [-j${n}]".
layout=LAYOUT
ops= vendor=customize
while [ $# -gt 0 ]; do
    case "$layout $1" in
    "cann-ops -n") ops=$2; shift 2 ;;
    "cann-ops -c") [ "$2" = ascend910b ] || exit 3; shift 2 ;;
    "ops-math --pkg" | "ops-math --experimental") shift ;;
    "ops-math --soc=ascend910b" | "ops-math -j"[0-9]*) shift ;;
    "ops-math --vendor_name="*) vendor=${1#*=}; shift ;;
    "ops-math --ops="*) ops=${1#*=}; shift ;;
    *) echo "Invalid option: $1"; exit 1 ;;
    esac
done
[ -n "$ASCEND_TOOLKIT_WAS_SET" ] || { echo "set_env.sh was not sourced"; exit 1; }
place=$(find . -type d -name "$ops" -path "*$ops" | head -1)
[ -n "$place" ] || { echo "no operator $ops"; exit 1; }
bad=$(grep -n no_such_name "$place"/op_kernel/*.cpp | head -1)
if [ -n "$bad" ]; then
    line=${bad%%:*}
    echo "[2026-11-22 10:11:12] $PWD/${place#./}/op_kernel/$ops.cpp:$line:9: error: use of" \
        "undeclared identifier 'no_such_name'"
    exit 1
fi
inside=build_out/inside/vendors/$vendor
mkdir -p "$inside/op_api/include" "$inside/op_api/lib"
cat "$place"/op_kernel/*.cpp > "$inside/told"
cp "$(dirname "$0")/aclnn_scale_shift.h" "$inside/op_api/include/"
g++ -shared -fPIC -I"$ASCEND_HOME_PATH/include" scale_shift_api.cpp \
    -o "$inside/op_api/lib/libcust_opapi.so" || exit 1
cat > build_out/custom.run <<'RUN'
#!/bin/bash
to=
for word in "$@"; do
    case "$word" in
    --quiet) ;;
    --install-path=*) to=${word#*=} ;;
    *) echo "unknown option $word"; exit 1 ;;
    esac
done
cp -r "$(dirname "$0")/inside/." "$to/"
RUN
