/**
 * Copies a text to the clipboard; resolves to whether it succeeded. In an insecure context (plain HTTP from another machine) browsers
 * have no clipboard API, and `execCommand` is used.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Inside an open dialog, which would otherwise take the focus back.
  const parent = document.activeElement?.closest('[role="dialog"]') ?? document.body
  const focused = document.activeElement
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
