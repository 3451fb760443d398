/** The stream of a log under test. */
export class LogLines {
  text = ''

  write(text: string): void {
    this.text += text
  }

  get parsed(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
}
