/**
 * Puts a text on the clipboard. Where the page is not from a secure origin (plain HTTP off this machine) browsers have no clipboard
 * for it, and only the old way is left. Resolves to whether it worked.
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
  // Within an open dialog, which else would take the focus back.
  const parent = document.activeElement?.closest('[role="dialog"]') ?? document.body
  const focused = document.activeElement
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
