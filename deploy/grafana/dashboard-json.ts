import type { Dashboard, Panel } from './panel.ts'

const COLUMNS = 24
const HEIGHTS = { timeseries: 8, stat: 4, bargauge: 8, 'state-timeline': 8 } as const
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

/** The JSON of a dashboard, as Grafana imports it. */
export function dashboardJson({ name, title, rows }: Dashboard): string {
  const dashboard = {
    uid: `umg-${name}`,
    title: `Model gateway: ${title}`,
    tags: ['umg'],
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    templating: { list: VARIABLES },
    links: [{ type: 'dashboards', title: 'Model gateway', tags: ['umg'], asDropdown: false, includeVars: true, keepTime: true }],
    panels: layOut(rows),
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

const VARIABLES = [
  { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
  {
    name: 'job',
    label: 'Job',
    type: 'query',
    datasource: DATASOURCE,
    query: { query: 'label_values(umg_build_info, job)', refId: 'job' },
    refresh: 2,
    includeAll: true,
    multi: true,
    current: { text: ['All'], value: ['$__all'] },
  },
]

/** Places panels from left to right under the headings of their rows. */
function layOut(rows: Dashboard['rows']): readonly object[] {
  const placed: object[] = []
  let y = 0
  for (const [title, panels] of Object.entries(rows)) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    })
    y++
    let x = 0
    let height = 0
    for (const panel of panels) {
      const { type = 'timeseries', width: w = type === 'stat' ? 4 : 8 } = panel
      if (x + w > COLUMNS) {
        x = 0
        y += height
        height = 0
      }
      const h = HEIGHTS[type]
      placed.push({ id: placed.length + 1, ...panelJson(panel), gridPos: { x, y, w, h } })
      height = Math.max(height, h)
      x += w
    }
    y += height
  }
  return placed
}

function panelJson({ title, type = 'timeseries', unit, queries, description, stacked, thresholds }: Panel): object {
  const last = type === 'stat' || type === 'bargauge'
  return {
    type,
    title,
    ...(description !== undefined && { description }),
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(thresholds ? { color: { mode: 'thresholds' }, thresholds: steps(thresholds) } : {}),
        ...(type === 'timeseries' && { custom: styleOf(stacked, thresholds), color: { mode: 'palette-classic' } }),
      },
      overrides: [],
    },
    options: last
      ? {
          reduceOptions: { calcs: ['lastNotNull'] },
          ...(type === 'stat' ? { graphMode: 'area' } : { orientation: 'horizontal' }),
        }
      : {
          legend: { displayMode: 'list', placement: 'bottom' },
          ...(type === 'timeseries' && { tooltip: { mode: 'multi', sort: 'desc' } }),
        },
    targets: Object.entries(queries).map(([expr, legend], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      ...(legend !== '' && { legendFormat: legend }),
      ...(type === 'bargauge' && { instant: true }),
    })),
  }
}

function styleOf(stacked: true | undefined, thresholds: Panel['thresholds']): object {
  return {
    fillOpacity: stacked ? 30 : 5,
    showPoints: 'never',
    ...(stacked && { stacking: { mode: 'normal' } }),
    ...(thresholds && { thresholdsStyle: { mode: 'dashed' } }),
  }
}

const steps = ([yellow, red]: readonly [number, number]): object => ({
  mode: 'absolute',
  steps: [
    { color: 'green', value: null },
    ...(yellow === red ? [] : [{ color: 'yellow', value: yellow }]),
    { color: 'red', value: red },
  ],
})
