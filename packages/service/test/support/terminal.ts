/** Loaded before a program (`--import`): its standard input, which is a pipe, passes for a terminal. */
Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });
