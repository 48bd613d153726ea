"""Hand calculations checked: claims read as they are written, derived anew, judged, and the slip named where there is one."""
