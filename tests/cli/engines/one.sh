deepclock engines null
deepclock engines nul
