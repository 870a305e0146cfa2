export { assetOf, nameOf } from "./assets.ts";
export { type ConsoleDeps, createConsole, invitationUrl } from "./app.ts";
export { formatRefund } from "./format-refund.ts";
export { type Examinations } from "./examinations.ts";
export { createReadings } from "./readings.ts";
