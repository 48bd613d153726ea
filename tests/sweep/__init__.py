"""Reading a sweep's files back as the same kind of thing: names to columns of points."""

import csv

import numpy as np

FORMATS = ("csv", "parquet", "nc", "zarr")


def points(path):
    """Every point of a file as a mapping from names to a number, a truth, a text or None."""
    return {".csv": _csv, ".parquet": _parquet, ".nc": _grid, ".zarr": _grid}[path.suffix](path)


def _csv(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return [{name: _read(text) for name, text in row.items()} for row in csv.DictReader(stream)]


def _read(text):
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _parquet(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pylist()


def _grid(path):
    import xarray

    with (
        xarray.open_dataset(path, engine="netcdf4")
        if path.suffix == ".nc"
        else xarray.open_zarr(path, chunks=None) as found
    ):
        return list(_rows(found.load()))


def _rows(found):
    for at in np.ndindex(*found.sizes.values()):
        place = dict(zip(found.sizes, at, strict=True))
        axes = {name: found[name].values[i].item() for name, i in place.items()}
        here = found.isel(place).data_vars
        yield axes | {name: _plain(value.values.item()) for name, value in here.items()}


def _plain(value):
    missing = value == "" or (isinstance(value, float) and np.isnan(value))
    return None if missing else value
