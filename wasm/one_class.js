// JavaScript's half of embind for the one class that bindings.cc registers, whose methods take
// and answer numbers: its own file handles inheritance, smart pointers, overloads and every type.
// Not where emcc runs the module itself, to write its types (--emit-tsd).
const keepsakeLibrary = {
  $keepsakeClass: function () {
    this.address = keepsakeClass.make();
  },

  _embind_register_class__deps: ["$keepsakeClass", "$wasmTable", "$UTF8ToString"],
  _embind_register_class: (
    _type,
    _pointerType,
    _constPointerType,
    _baseType,
    _getTypeSignature,
    _getType,
    _upcastSignature,
    _upcast,
    _downcastSignature,
    _downcast,
    name,
    _destructorSignature,
    destructor,
  ) => {
    const destroy = wasmTable.get(destructor);
    keepsakeClass.prototype.delete = function () {
      destroy(this.address);
    };
    Module[UTF8ToString(name)] = keepsakeClass;
  },

  _embind_register_class_constructor: (_type, _count, _types, _signature, invoker, factory) => {
    const invoke = wasmTable.get(invoker);
    keepsakeClass.make = () => invoke(factory);
  },

  _embind_register_class_function: (_type, name, _count, _types, _signature, invoker, method) => {
    const invoke = wasmTable.get(invoker);
    keepsakeClass.prototype[UTF8ToString(name)] = function (one, another) {
      return invoke(method, this.address, one, another) >>> 0;
    };
  },

  _embind_register_integer: () => {},
  _embind_register_void: () => {},
};

if (MODULARIZE) addToLibrary(keepsakeLibrary);
