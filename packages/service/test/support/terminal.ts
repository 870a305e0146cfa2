/** Loaded before a program (`--import`): makes its standard input, a pipe, appear as a terminal. */
Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });
