export { authenticate, createIntegrator, createKey, type Principal } from "./integrators.ts";
