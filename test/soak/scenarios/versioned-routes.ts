import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LINK = fileURLToPath(new URL('../versioned-link.ts', import.meta.url))

/** A routes.yaml that sends its version to the upstream twice: in a header by a link, and in the path by the namespace. */
export const versionedRoutes = (version: number): string => `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 100M/min } }, default: many }
  - plugin: ${LINK}
    config: { version: ${version} }
namespaces:
  up: { provider: openai-compatible, config: { baseUrl: "\${env:SOAK_OPEN}/${version}" } }
`

/** Numbers from 0 to 1, the same in every run: mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A routes.yaml that is edited in every way that people, editors and Kubernetes use. */
export class EditedRoutes {
  readonly #folder: string
  readonly #random: () => number
  #version = 0
  #mounted: string | undefined

  constructor(folder: string, random: () => number) {
    this.#folder = folder
    this.#random = random
  }

  /** The text of the newest version. */
  get text(): string {
    return versionedRoutes(this.#version)
  }

  /** A random edit, valid or invalid. */
  async edit(): Promise<void> {
    const edits = [...this.#valid, ...this.#wrong]
    await edits[Math.floor(this.#random() * edits.length)]!()
  }

  /** Writes the next version. */
  async write(): Promise<void> {
    this.#version++
    await writeFile(this.#at('routes.yaml'), this.text)
  }

  /** Writes an invalid version. */
  async writeInvalid(): Promise<void> {
    await writeFile(this.#at('routes.yaml'), `${this.text}namespases: {}\n`)
  }

  readonly #valid = [() => this.write(), () => this.#replace(), () => this.#swap()]

  readonly #wrong = [
    () => this.writeInvalid(),
    () => writeFile(this.#at('routes.yaml'), `${this.text}namespaces: {{\n`),
    () => writeFile(this.#at('routes.yaml'), this.text.slice(0, Math.floor(this.#random() * (this.text.length - 20)))),
    () => writeFile(this.#at('routes.yaml'), this.text.replace('SOAK_OPEN', 'SOAK_NOBODY')),
    () => rm(this.#at('routes.yaml'), { force: true }),
  ]

  /** As editors do. */
  async #replace(): Promise<void> {
    this.#version++
    await writeFile(this.#at('next'), this.text)
    await rename(this.#at('next'), this.#at('routes.yaml'))
  }

  /** As Kubernetes does with a ConfigMap. */
  async #swap(): Promise<void> {
    this.#version++
    const mounted = `..${this.#version}`
    await mkdir(this.#at(mounted))
    await writeFile(this.#at(`${mounted}/routes.yaml`), this.text)
    await symlink(mounted, this.#at('..data_tmp'))
    await rename(this.#at('..data_tmp'), this.#at('..data'))
    await symlink('..data/routes.yaml', this.#at('link'))
    await rename(this.#at('link'), this.#at('routes.yaml'))
    if (this.#mounted !== undefined) await rm(this.#at(this.#mounted), { recursive: true })
    this.#mounted = mounted
  }

  #at(name: string): string {
    return join(this.#folder, name)
  }
}
