import { Session } from 'node:inspector/promises'

/** Counts the calls of functions of `core/` in this process while `work` runs, by V8's precise coverage: the same work, the same number. */
export async function functionCalls(work: () => Promise<unknown>): Promise<number> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const functions = result.filter(({ url }) => url.includes('/core/')).flatMap((script) => script.functions)
    return functions.reduce((sum, { ranges }) => sum + ranges[0]!.count, 0)
  } finally {
    session.disconnect()
  }
}
