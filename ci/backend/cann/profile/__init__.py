"""Reads what CANN's profilers leave: one file of theirs, one module here.

The layouts are those of msopprof's `metric_csv_header.h` and of files that CANN 8.x wrote: every
line may end in a comma, a row is one core (cube0, vector0, …) and has NA where a column belongs to
the other kind, columns come and go with the version and in another order. So a column is always
looked up by its name, and one that is not there is not known, which is not 0.
"""
