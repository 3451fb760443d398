/** The colors of groups, distinguishable to most people, for light and dark; the last one is for all remaining groups. */
const LIGHT = ['#3a63e0', '#0d9488', '#d97706', '#c2417f', '#7c5cd6', '#5b8c1f', '#b4542a', '#64748b']
const DARK = ['#6b8df2', '#2fb8a9', '#f0a541', '#e873a8', '#a58bf0', '#93c148', '#e08a5f', '#94a3b8']

/** The color of a group by its index. */
export function groupColor(index: number, dark: boolean): string {
  const colors = dark ? DARK : LIGHT
  return colors[Math.min(index, colors.length - 1)]!
}
