// OpenTelemetry for the server on Node, or for your own. Node loads it first, with --import. Variables
// such as OTEL_EXPORTER_OTLP_ENDPOINT configure it. Node 26 warns that register() is deprecated.
//
//   npm install @opentelemetry/sdk-node @opentelemetry/instrumentation @opentelemetry/instrumentation-http
//   node --import ./open_telemetry.mjs node_modules/@petstore/service/bin.js start

import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { register } from "node:module";

register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
new NodeSDK({ instrumentations: [new HttpInstrumentation()] }).start();
