export {
  createPayLink,
  deleteOldPayLinks,
  listOpen,
  listPayLinks,
  type OpenPayLink,
  openPayLink,
  payPath,
  revokePayLink,
} from "./links.ts";
export { findShownToken, isMoving, type PayStatusDeps, readPayStatus } from "./status.ts";
