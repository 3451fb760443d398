/** A panel of a dashboard. */
export interface Panel {
  readonly title: string
  /** Default: `timeseries`. A stat and a bar gauge show the last value. */
  readonly type?: 'timeseries' | 'stat' | 'bargauge' | 'state-timeline'
  /** A unit of Grafana: https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/#unit */
  readonly unit: string
  /** Expressions of PromQL, each with the legend of its series. */
  readonly queries: Readonly<Record<string, string>>
  /** Of 24 columns. Default: 8; of a stat 4. */
  readonly width?: number
  /** The series add up to a whole. */
  readonly stacked?: true
  /** From which values on the panel is yellow and red. */
  readonly thresholds?: readonly [yellow: number, red: number]
  /** The series exist only once something has happened that a gateway can be without. */
  readonly rare?: true
  readonly description?: string
}

/** A dashboard: rows of panels under their headings. */
export interface Dashboard {
  /** The name of its file, and the end of its URL. */
  readonly name: string
  readonly title: string
  readonly rows: Readonly<Record<string, readonly Panel[]>>
}
