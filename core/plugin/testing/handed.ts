import type { ChainPlugin, ProviderPlugin } from '../api.ts'

/** Plugins that a test has as objects, by number: the gateway under test imports them by a module that stands for each. */
const HANDED: (ChainPlugin | ProviderPlugin)[] = []

/** Keeps a plugin for `handed`, and returns the source of a module that exports it as a plugin's module does. */
export function handOver(plugin: ChainPlugin | ProviderPlugin): string {
  const number = HANDED.push(plugin) - 1
  return `import { handed } from ${JSON.stringify(import.meta.url)}\nexport default handed(${number})\n`
}

/** The plugin that was handed over under a number. */
export function handed(number: number): ChainPlugin | ProviderPlugin | undefined {
  return HANDED[number]
}
