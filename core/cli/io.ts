/** A stream a command writes to, as `process` has them. */
export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** What a command needs of its process: results go to stdout, words about them to stderr. */
export interface CommandIo {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Output
  readonly stderr: Output
}
