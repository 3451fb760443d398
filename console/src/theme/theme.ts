import { alpha, type CSSVariablesResolver, createTheme, type MantineColorsTuple, type MantineTheme } from '@mantine/core'

/** The accent color. */
const cobalt: MantineColorsTuple = [
  '#eef3ff',
  '#dce6fd',
  '#b9cbf9',
  '#91adf5',
  '#7095f1',
  '#5079ec',
  '#3a63e0',
  '#2b50c4',
  '#2342a3',
  '#1c3580',
]

/** Cool grays; index 0 is text, index 7 the page. */
const dark: MantineColorsTuple = [
  '#dce0e7',
  '#bcc2cc',
  '#98a0ad',
  '#737b89',
  '#3b414c',
  '#2b3038',
  '#20242b',
  '#16191e',
  '#111317',
  '#0c0e11',
]

const SANS = '"Inter", -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
const MONO = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace'

/** The theme, with the default props of Mantine's components. */
export const theme = createTheme({
  colors: { cobalt, dark },
  primaryColor: 'cobalt',
  primaryShade: 6,
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  headings: { fontFamily: SANS, fontWeight: '600' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, centered: true },
      styles: { title: { fontWeight: 600 } },
    },
    Drawer: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, position: 'right' },
      styles: { title: { fontWeight: 600 } },
    },
    // Nearly every field is required: the placeholder of an optional one is its default.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Tooltip: { defaultProps: { openDelay: 250, withArrow: true } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
    Anchor: { defaultProps: { underline: 'hover' } },
    Alert: { defaultProps: { variant: 'light' } },
    Table: { defaultProps: { verticalSpacing: 'xs', horizontalSpacing: 'sm' } },
  },
})

/** Tinted surfaces in dark mode: translucent, where Mantine has solid ones, each with a readable text color. */
function veils({ colors }: MantineTheme): Record<string, string> {
  return Object.fromEntries(
    Object.entries(colors).flatMap(([name, shades]) => [
      [`--mantine-color-${name}-light`, alpha(shades[5], 0.16)],
      [`--mantine-color-${name}-light-hover`, alpha(shades[5], 0.22)],
      [`--mantine-color-${name}-light-color`, shades[name === 'dark' ? 0 : 3]],
    ]),
  )
}

/** Surfaces, dimmed text and errors of fields, with the contrast that WCAG AA requires. */
export const variables: CSSVariablesResolver = (mantine) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b6370',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': mantine.colors.red[9],
    '--surface-quiet': '#f7f8fa',
    '--line': '#e3e6eb',
    '--line-strong': '#cfd4dc',
  },
  dark: {
    ...veils(mantine),
    '--mantine-color-dimmed': '#98a0ad',
    '--mantine-color-placeholder': '#8b93a1',
    '--mantine-color-error': mantine.colors.red[4],
    '--surface-quiet': '#1b1f25',
    '--line': '#2b3038',
    '--line-strong': '#3b414c',
  },
})
