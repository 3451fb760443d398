import type { Table } from '../table.ts'
import type { Problem } from '../text/source.ts'
import { findCircles } from './circles.ts'
import { checkExpectations } from './expectations.ts'
import { findInertRules } from './inert-routes.ts'
import { findInertTimeouts } from './inert-timeouts.ts'
import { ModelNames } from './model-names.ts'
import { checkNamespaces } from './namespaces.ts'
import { findOvergrown } from './overgrown-routes.ts'
import { checkReferences } from './references.ts'

/** What no schema can see: how the parts of the table belong together. */
export function checkNames(table: Table): readonly Problem[] {
  const names = new ModelNames(table)
  return [checkReferences, findCircles, findOvergrown, findInertRules, findInertTimeouts, checkExpectations]
    .flatMap((find) => find(table, names))
    .concat(checkNamespaces(table))
}
