import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What some tests need beside npm. `find`: a path or an address of it; undefined where it is not here. */
interface Requirement {
  /** What the tests are about. */
  readonly tests: string
  /** Why they are skipped, and what to do about it. */
  readonly missing: string
  find(): string | undefined
}

const REQUIREMENTS = {
  postgres: {
    tests: 'PostgreSQL',
    missing: 'set UMG_TEST_POSTGRES=postgres://… to a server on which they may make databases',
    find: () => process.env.UMG_TEST_POSTGRES || undefined,
  },
  chromium: {
    tests: 'the console in a browser',
    missing: 'no chromium-headless-shell or chromium on the PATH',
    // Without windows it needs a sixth less CPU.
    find: () => onPath('chromium-headless-shell') ?? onPath('chromium'),
  },
  python: {
    tests: 'the SDKs openai-python and anthropic-python',
    missing: 'set UMG_TEST_PYTHON to a Python that has the packages openai and anthropic; the python3 on the PATH has them not',
    find: findPython,
  },
  earlierPython: {
    tests: 'the majors of openai-python and anthropic-python before the newest',
    missing: 'set UMG_TEST_EARLIER_PYTHON to a Python that has the packages openai 2 and anthropic 1',
    find: () => process.env.UMG_TEST_EARLIER_PYTHON || undefined,
  },
  codex: {
    tests: 'Codex CLI',
    missing: 'no codex on the PATH: npm install --global @openai/codex',
    find: () => onPath('codex'),
  },
  claude: {
    tests: 'Claude Code',
    missing: 'no claude on the PATH: npm install --global @anthropic-ai/claude-code',
    find: () => onPath('claude'),
  },
  opencode: {
    tests: 'opencode',
    missing: 'no opencode on the PATH: npm install --global opencode-ai',
    find: () => onPath('opencode'),
  },
  promtool: {
    tests: "Prometheus' own linter",
    missing: 'no promtool on the PATH',
    find: () => onPath('promtool'),
  },
  prometheus: {
    tests: 'the dashboards on a Prometheus server',
    missing: 'no prometheus on the PATH',
    find: () => onPath('prometheus'),
  },
  redis: {
    tests: 'limits in Redis',
    missing: 'no redis-server on the PATH',
    find: () => onPath('redis-server'),
  },
  helm: {
    tests: 'the Helm chart',
    missing: 'no helm on the PATH: go install helm.sh/helm/v3/cmd/helm@v3.22.0',
    find: () => onPath('helm'),
  },
  nginx: {
    tests: 'nginx in front of the gateway',
    missing: 'no nginx on the PATH or in /usr/sbin',
    // Debian keeps it where only root's PATH looks.
    find: () => onPath('nginx') ?? ['/usr/sbin/nginx'].find(isExecutable),
  },
  systemd: {
    tests: 'the unit of systemd',
    missing: 'no systemd-analyze on the PATH',
    find: () => onPath('systemd-analyze'),
  },
  compiler: {
    tests: 'the tools of the benchmark',
    missing: 'no gcc or no make on the PATH',
    find: () => onPath('make') && onPath('gcc'),
  },
  git: {
    tests: 'the benchmark of two versions',
    missing: 'no git on the PATH',
    find: () => onPath('git'),
  },
  oldNode: {
    tests: 'a Node that is too old',
    missing: 'none in /usr/bin or /usr/local/bin',
    find: () => ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path) && majorOf(path) < 24),
  },
  namespaces: {
    tests: 'a process in another PID namespace, as in another container',
    missing: 'unshare --pid needs Linux and root',
    find: () => (spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0 ? 'unshare' : undefined),
  },
  linux: {
    tests: '/proc',
    missing: 'only Linux has it',
    find: () => (process.platform === 'linux' ? '/proc' : undefined),
  },
} satisfies Record<string, Requirement>

/** One of what some tests need. */
export type RequirementName = keyof typeof REQUIREMENTS

/** What to do about each of them where it is missing. */
export const remedies = (): readonly string[] => Object.values(REQUIREMENTS).map(({ missing }) => missing)

/** What to do about one of them where it is missing. */
export const remedyOf = (name: RequirementName): string => REQUIREMENTS[name].missing

const found = new Map<RequirementName, string | undefined>()

/** Where it is; undefined where it is not here. */
export function find(name: RequirementName): string | undefined {
  if (!found.has(name)) found.set(name, REQUIREMENTS[name].find())
  return found.get(name)
}

/** Looks for everything that any test needs. */
export function findAll(): void {
  for (const name of Object.keys(REQUIREMENTS)) find(name as RequirementName)
}

/** A suite that is skipped where what it needs is missing. */
export function describeWith(name: RequirementName, title: string, define: (this: Mocha.Suite) => void): void {
  const declare = find(name) === undefined ? describe.skip : describe
  declare(title, define)
}

/** A test that is skipped where what it needs is missing. */
export function itWith(name: RequirementName, title: string, test: Mocha.AsyncFunc): void {
  const declare = find(name) === undefined ? it.skip : it
  declare(title, test)
}

/** A line for all that the tests of this run looked for in vain. */
export function skipped(): readonly string[] {
  const names = [...found.keys()].filter((name) => found.get(name) === undefined)
  return names.map((name) => `tests of ${REQUIREMENTS[name].tests}: ${REQUIREMENTS[name].missing}`)
}

function onPath(program: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return paths.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function findPython(): string | undefined {
  const named = process.env.UMG_TEST_PYTHON
  if (named) return named
  const look =
    "import sys, importlib.util as util; sys.exit(any(util.find_spec(name) is None for name in ['openai', 'anthropic']))"
  return spawnSync('python3', ['-c', look]).status === 0 ? 'python3' : undefined
}

const majorOf = (node: string): number => Number(/^v(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1])
