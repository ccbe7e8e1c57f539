deepclock help zoo
