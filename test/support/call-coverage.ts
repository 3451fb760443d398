/**
 * Loaded into a gateway by `--import`: after each reply it sends its parent the project's files in which a function ran between the
 * request's head and the last byte of the reply, by V8's precise coverage.
 */
import { subscribe } from 'node:diagnostics_channel'
import { type Profiler, Session } from 'node:inspector'

const PROJECT = new URL('../../', import.meta.url).href

const OURS = /^(?:core|plugins)\//
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

subscribe('http.server.request.start', () => session.post('Profiler.takePreciseCoverage'))
subscribe('http.server.response.finish', () => {
  session.post('Profiler.takePreciseCoverage', (_, coverage) => process.send?.(filesOf(coverage)))
})

function filesOf({ result }: Profiler.TakePreciseCoverageReturnType): string[] {
  return result
    .filter(({ url, functions }) => OURS.test(url.replace(PROJECT, '')) && functions.some(hasRun))
    .map(({ url }) => url.slice(PROJECT.length).replace(/\?.*/, ''))
    .sort()
}

/** The unnamed function that begins at 0 is the module itself. */
const hasRun = ({ functionName, ranges }: Profiler.FunctionCoverage): boolean =>
  (functionName !== '' || ranges[0]!.startOffset > 0) && ranges.some(({ count }) => count > 0)
