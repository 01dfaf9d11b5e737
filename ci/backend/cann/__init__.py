"""A real Ascend NPU with an installed CANN toolkit: builds, launches, profiles."""
