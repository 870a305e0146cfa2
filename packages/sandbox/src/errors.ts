/** What stops the sandbox and what to do about it, in one line for people. Anything else that is thrown is a bug. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}
