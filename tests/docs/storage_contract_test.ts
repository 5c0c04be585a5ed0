/** The example of the contract of a storage: its tests run here, on each runtime. */

import "../../docs/examples/storage_contract.ts";
