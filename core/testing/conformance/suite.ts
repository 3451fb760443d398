/// <reference types="mocha" />
import type { ProviderUnderTest } from './describe-provider.ts'
import type { Stage } from './fixture.ts'
import { type Absent, isAbsent, type Scenarios } from './scenarios.ts'

// `describe` and `it` are mocha's, which whoever calls describeProvider runs.

/** A provider's suite, as its cases see it. */
export interface Suite {
  readonly subject: ProviderUnderTest
  /** Where it is played: only while a case runs. */
  readonly stage: Stage
}

/** The scenarios that the provider has. */
export function present({ scenarios }: ProviderUnderTest) {
  type Fixture = Exclude<Scenarios[keyof Scenarios], Absent>
  return (Object.entries(scenarios) as [keyof Scenarios, Fixture | Absent][]).filter(
    (entry): entry is [keyof Scenarios, Fixture] => !isAbsent(entry[1]),
  )
}

/** A case that needs the official SDK, which is an optional peer of the kit. */
export function itWithSdk(title: string, run: () => Promise<void>): void {
  if (HAS_SDK) it(title, run)
  else it.skip(`${title} (skipped: npm install --save-dev openai)`)
}

const HAS_SDK = isInstalled('openai')

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}
