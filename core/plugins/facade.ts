/**
 * Closes a class whose instances plugins get: its `constructor` would lead them to the class, and its prototype to the objects of
 * every other call. `Facade`: has public members that the plugin API documents, and no others.
 */
export function closeFacade(Facade: { readonly prototype: object }): void {
  Reflect.deleteProperty(Facade.prototype, 'constructor')
  Object.freeze(Facade.prototype)
}
