/** An error that stops the sandbox: one line that says what is wrong and what to do. Any other exception is a bug. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}
