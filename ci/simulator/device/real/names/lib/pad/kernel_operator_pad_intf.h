// An earlier name: the API is in kernel_operator.h now.
#pragma once
#include <kernel_operator.h>
