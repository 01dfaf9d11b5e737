// An earlier name of the matrix multiplication.
#pragma once
#include <kernel_operator.h>
#include <adv_api/matmul/matmul_intf.h>
