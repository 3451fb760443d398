import { GATEWAY } from './gateway.ts'
import { OVERVIEW } from './overview.ts'
import type { Dashboard } from './panel.ts'
import { TOKENS_AND_MONEY } from './tokens-and-money.ts'
import { UPSTREAMS } from './upstreams.ts'

/** All dashboards. `npm run docs` writes their JSON. */
export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, UPSTREAMS, TOKENS_AND_MONEY, GATEWAY]
