// SPDX-License-Identifier: Apache-2.0
// D3 as the pages have it: a global.
import { createRequire } from "node:module";

globalThis.d3 = createRequire(import.meta.url)(process.env.D3 || "/usr/share/nodejs/d3/dist/d3.min.js");
