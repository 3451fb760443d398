import { schema } from '../../core/cli/config/schema.ts'
import { dashboardJson } from '../../deploy/grafana/dashboard-json.ts'
import { DASHBOARDS } from '../../deploy/grafana/dashboards.ts'
import { chainPluginsPage } from './chain-plugins.ts'
import { managementApiTypes } from './management-api-types.ts'
import { pluginApiPage } from './plugin-api.ts'
import { providersPage } from './providers.ts'

/** A file of the project that is made from its code. */
export interface GeneratedFile {
  /** From the project's root. */
  readonly path: string
  content(): string | Promise<string>
}

/** The files that `npm run docs` writes. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'docs/chain-plugins.md', content: chainPluginsPage },
  { path: 'docs/plugin-api.md', content: pluginApiPage },
  { path: 'docs/providers.md', content: providersPage },
  { path: 'docs/routes.schema.json', content: routesSchema },
  { path: 'console/src/api/management-api.ts', content: managementApiTypes },
  ...DASHBOARDS.map((dashboard) => ({
    path: `deploy/grafana/dashboards/${dashboard.name}.json`,
    content: () => dashboardJson(dashboard),
  })),
]

/** The output of `umg schema`. */
async function routesSchema(): Promise<string> {
  const output: string[] = []
  const stdout = { write: (text: string) => output.push(text) }
  await schema(undefined, { env: {}, stdout, stderr: process.stderr })
  return output.join('')
}
