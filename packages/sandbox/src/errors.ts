/** An error that stops the sandbox: one line that says what is wrong and what to do. Any other exception is a bug. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}

/** Reasons for which the system refuses a file or directory. */
const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a file is in its place or above it",
  EEXIST: "a file is in its place",
  EISDIR: "a directory is in its place",
};

/**
 * Returns an error of the file system as a `SandboxError` with the path and the option that chooses another one; any other
 * value unchanged.
 */
export function describeFileError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !("path" in thrown) || !("code" in thrown)) return thrown;
  const reason = REFUSALS[String(thrown.code)];
  if (reason === undefined) return thrown;
  return new SandboxError(
    `${String(thrown.path)} cannot be used: ${reason}. Choose another state directory with --state-dir`,
    { cause: thrown },
  );
}
