/** CPU time of this thread, in milliseconds: other work of the machine is not part of it. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest turn of the event loop in some work, as a part of all its CPU time. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const startedAt = threadTime()
  let lookedAt = startedAt
  let longest = 0
  let immediate: NodeJS.Immediate
  const look = (): void => {
    const now = threadTime()
    longest = Math.max(longest, now - lookedAt)
    lookedAt = now
    immediate = setImmediate(look)
  }
  immediate = setImmediate(look)
  await work()
  clearImmediate(immediate)
  const endedAt = threadTime()
  return Math.max(longest, endedAt - lookedAt) / (endedAt - startedAt)
}
