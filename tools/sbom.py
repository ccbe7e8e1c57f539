#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a software bill of materials in CycloneDX 1.6 (JSON): deepclock, the libraries that it was built with and loads, and the
files of a release with their checksums.

  sbom.py BUILD VERSION FILE...
"""

import hashlib
import json
import os
import subprocess
import sys
import uuid


def libraries(build):
    """Returns the dependencies that Meson found, except those of the C library and of tests."""
    found = subprocess.run(["meson", "introspect", "--dependencies", build], check=True, capture_output=True, text=True).stdout
    return sorted({(d["name"], d["version"]) for d in json.loads(found)
                   if d["version"] not in ("unknown", "") and d["name"] not in ("cmocka", "threads", "python")})


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def document(version, purl, components, used):
    """Returns the CycloneDX document of deepclock. used: those of the components that it depends on."""
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}", "version": 1,
            "metadata": {"component": {"type": "application", "name": "deepclock", "version": version, "bom-ref": "deepclock",
                                       "licenses": [{"license": {"id": "Apache-2.0"}}], "purl": purl}},
            "components": components,
            "dependencies": [{"ref": "deepclock", "dependsOn": [c["bom-ref"] for c in used]}]}


def main(build, version, *files):
    used = [{"type": "library", "bom-ref": f"pkg:generic/{name}@{v}", "name": name, "version": v, "purl": f"pkg:generic/{name}@{v}"}
            for name, v in libraries(build)]
    made = [{"type": "file", "bom-ref": os.path.basename(f), "name": os.path.basename(f),
             "hashes": [{"alg": "SHA-256", "content": digest(f)}]} for f in files]
    json.dump(document(version, f"pkg:generic/deepclock@{version}", used + made, used), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
