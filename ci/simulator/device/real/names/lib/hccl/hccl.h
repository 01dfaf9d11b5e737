// An earlier name of the collective communication.
#pragma once
#include <kernel_operator.h>
#include <adv_api/hccl/hccl.h>
