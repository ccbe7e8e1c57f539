deepclock help benhc
